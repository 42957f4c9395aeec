package fleet

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Selection chooses replicas: those of IDs, and the Share of those that have all of
// Labels. Each replica decides for itself, by a hash of its id that the revision
// salts, so not the same ones always take the risk, and a larger share includes the
// replicas of a smaller one.
type Selection struct {
	Share  float64           `json:"share,omitempty"`  // from 0 to 1
	Labels map[string]string `json:"labels,omitempty"` // narrow Share
	IDs    []string          `json:"ids,omitempty"`    // beside Share, at most MaxIDs
}

// MaxIDs bounds Selection.IDs.
const MaxIDs = 100

// Includes reports whether the selection chooses a replica.
func (s *Selection) Includes(salt, id string, labels map[string]string) bool {
	if slices.Contains(s.IDs, id) {
		return true
	}
	for key, value := range s.Labels {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	return s.Share >= 1 || Rank(salt, id) < s.Share
}

// Rank returns where a replica stands in the order in which shares choose, in
// [0, 1): the first 53 bits of the SHA-256 of salt, a zero byte and id.
func Rank(salt, id string) float64 {
	sum := sha256.Sum256([]byte(salt + "\x00" + id))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// Check returns an error for a selection that chooses nothing or cannot be.
func (s *Selection) Check() error {
	switch {
	case math.IsNaN(s.Share) || s.Share < 0 || s.Share > 1:
		return fmt.Errorf("a share of %g is not from 0 to 1", s.Share)
	case s.Share == 0 && len(s.IDs) == 0:
		return errors.New("it selects no replica: it needs ids, or a share above 0, which is 100 % for all that have its labels")
	case s.Share == 0 && len(s.Labels) > 0:
		return errors.New("labels narrow a share, and there is none")
	case len(s.IDs) > MaxIDs:
		return fmt.Errorf("%d ids are more than %d: choose by a share or by labels", len(s.IDs), MaxIDs)
	}
	for _, id := range s.IDs {
		if err := CheckName("id of a replica", id); err != nil {
			return err
		}
	}
	return checkLabels(s.Labels)
}

// String returns the selection in words.
func (s *Selection) String() string {
	var parts []string
	if s.Share > 0 {
		parts = append(parts, fmt.Sprintf("%.4g %%", 100*s.Share))
	}
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		parts = append(parts, key+"="+s.Labels[key])
	}
	if len(s.IDs) > 0 {
		parts = append(parts, strings.Join(s.IDs, " "))
	}
	return strings.Join(parts, ", ")
}

// jsonFields returns the names under which encoding/json has the fields of a struct.
func jsonFields(value any) (names []string) {
	for field := range reflect.TypeOf(value).Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}
