"""Videos with true boxes: made of real things and photographs, or of textures."""
