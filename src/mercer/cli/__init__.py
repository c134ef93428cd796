"""The command line: every command in a small file, no arithmetic."""
