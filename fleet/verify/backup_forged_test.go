package verify

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

// A plan that does not describe what it names could not be read any more, nor be
// changed.
func TestABackupWhosePlanDoesNotFitItsContentIsRefused(t *testing.T) {
	m := newTeam(t, 0)
	r := m.publish(t, "one")
	archive := tar.NewReader(bytes.NewReader(m.saved(t)))
	m.lose(t)
	var forged bytes.Buffer
	w := tar.NewWriter(&forged)
	var list []byte
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		text, readErr := io.ReadAll(archive)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		switch header.Name {
		case "fleet.json":
			text = bytes.Replace(text, fmt.Appendf(nil, `"revisions":{%q:`, r.ID), []byte(`"revisions":{"other":`), 1)
			list = text
		case "fleet.json.sha256":
			sum := sha256.Sum256(list)
			text = []byte(hex.EncodeToString(sum[:]))
		}
		header.Size = int64(len(text))
		_, err = io.Copy(entryOf(t, w, header), bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Restore(t.Context(), &forged, ""); err == nil || !strings.Contains(err.Error(), "does not describe") {
		t.Errorf("Restore returned %v", err)
	}
	if _, err := m.Status(t.Context()); !errors.Is(err, fleet.ErrNoPlan) {
		t.Errorf("Status returned %v", err)
	}
}

func entryOf(t *testing.T, w *tar.Writer, header *tar.Header) io.Writer {
	t.Helper()
	if err := w.WriteHeader(header); err != nil {
		t.Fatal(err)
	}
	return w
}
