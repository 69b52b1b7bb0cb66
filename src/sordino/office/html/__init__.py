"""Pages: elements that escape what was not made here; the words of a language."""
