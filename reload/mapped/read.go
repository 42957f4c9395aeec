package mapped

import "os"

// readFile is mapFile for systems whose package syscall maps no files.
func readFile(file *os.File, size int) ([]byte, error) {
	data := make([]byte, size)
	if _, err := file.ReadAt(data, 0); err != nil {
		return nil, err
	}
	return data, nil
}
