"""Modules with other libraries' names and defaults, over libshell."""
