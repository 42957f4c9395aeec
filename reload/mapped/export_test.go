package mapped

// ReadFile stands for mmap on other systems.
var ReadFile = readFile

// Unmap is the Discard function of a pool for files.
func (f *File[T]) Unmap() error { return f.unmap() }
