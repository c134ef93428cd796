"""Operator and engine in, fitted expansion out."""
