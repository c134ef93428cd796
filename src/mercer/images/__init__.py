"""Images: denoising, sets of images of one object, and following an object in a video."""
