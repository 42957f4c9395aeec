package mapped

// ReadFile stands for mmap on other systems.
var ReadFile = readFile
