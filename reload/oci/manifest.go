package oci

import (
	"bytes"
	"encoding/json"
	"fmt"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// manifest has the fields of a manifest that Fetch needs.
type manifest struct {
	Layers      layers            `json:"layers"`
	Annotations map[string]string `json:"annotations"`
}

// maxLayers bounds the layers of a manifest: a million empty ones fit into it, and would
// take a hundred times its size in memory.
const maxLayers = 10_000

// layers are those of a manifest.
type layers []ocispec.Descriptor

// UnmarshalJSON implements json.Unmarshaler. text is valid JSON.
func (l *layers) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		return fmt.Errorf("its layers are no array but %.20s", text)
	}
	for decoder.More() {
		if len(*l) == maxLayers {
			return fmt.Errorf("it has more than %d layers", maxLayers)
		}
		var layer ocispec.Descriptor
		if err := decoder.Decode(&layer); err != nil {
			return err
		}
		*l = append(*l, layer)
	}
	return nil
}
