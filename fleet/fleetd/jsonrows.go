package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// jsonRows are JSON objects, one a line. The key of a row is a number in plain form, or
// a string behind a quotation mark, so that "1" is not 1.
type jsonRows struct {
	key  string // the name of its field
	text bytes.Buffer
}

func (j *jsonRows) read(f *rowFile, do func(row) error) error {
	return f.each(func(line []byte) error { return j.do(f, line, do) })
}

func (j *jsonRows) readDelta(f *rowFile, do func(row, bool) error) error {
	return f.each(func(line []byte) error {
		var op struct {
			Op       string
			Row, Key json.RawMessage
		}
		err := json.Unmarshal(line, &op)
		switch {
		case err != nil:
			return f.at(f.line, "%w", err)
		case op.Op == "set":
			return j.do(f, op.Row, func(r row) error { return do(r, false) })
		case op.Op != "delete" || len(op.Key) == 0:
			return f.at(f.line, "the op is %.100q", op.Op)
		}
		key, err := jsonKey(op.Key)
		if err != nil {
			return f.at(f.line, "the key %w", err)
		}
		return do(row{file: f, line: f.line, key: []byte(key)}, true)
	})
}

// do calls do with the row of a line.
func (j *jsonRows) do(f *rowFile, line []byte, do func(row) error) error {
	if !utf8.Valid(line) {
		return f.at(f.line, "the line is not UTF-8")
	}
	j.text.Reset()
	if err := json.Compact(&j.text, line); err != nil {
		return f.at(f.line, "%w", err)
	}
	text := j.text.Bytes()
	if text[0] != '{' {
		return f.at(f.line, "the line is no JSON object")
	}
	value, count := jsonField(text, j.key)
	switch count {
	case 0:
		return f.at(f.line, "the object has no field %q, which is the key", j.key)
	case 1:
	default:
		return f.at(f.line, "the object has the field %q %d times", j.key, count)
	}
	key, err := jsonKey(value)
	if err != nil {
		return f.at(f.line, "the field %q %w", j.key, err)
	}
	return do(row{file: f, line: f.line, key: []byte(key), text: text, hash: text})
}

func (j *jsonRows) head() string { return "" }

func (j *jsonRows) set(_, text string) string { return `{"op":"set","row":` + text + `}` }

func (j *jsonRows) remove(key string) string {
	if text, ok := strings.CutPrefix(key, `"`); ok {
		key = jsonString(text)
	}
	return `{"op":"delete","key":` + key + `}`
}

// jsonString returns a string in JSON.
func jsonString(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a Builder takes all
	return strings.TrimSuffix(b.String(), "\n")
}

// jsonField returns the last value of a field and how often it is in an object, which is
// valid and compact.
func jsonField(object []byte, name string) (value []byte, count int) {
	for rest := object[1:]; rest[0] != '}'; {
		if rest[0] == ',' {
			rest = rest[1:]
		}
		n := jsonLen(rest)
		found := jsonText(rest[:n]) == name
		rest = rest[n+1:]
		n = jsonLen(rest)
		if found {
			value, count = rest[:n], count+1
		}
		rest = rest[n:]
	}
	return value, count
}

// jsonLen returns the length of the value that begins text, which goes on behind it.
func jsonLen(text []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']', ',', ':':
			if depth == 0 {
				return i
			}
			if text[i] == '}' || text[i] == ']' {
				depth--
			}
		}
	}
}

// jsonText returns what a string in valid JSON says.
func jsonText(value []byte) (text string) {
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	_ = json.Unmarshal(value, &text) // it is valid
	return text
}

// jsonKey returns the key that a value is.
func jsonKey(value []byte) (string, error) {
	switch {
	case value[0] == '"':
		if text := jsonText(value); text != "" {
			return `"` + text, nil
		}
		return "", errors.New("is empty")
	case value[0] == '-' || '0' <= value[0] && value[0] <= '9':
		return plainNumber(string(value))
	}
	return "", errors.New("is neither a string nor a number")
}

// mostExponent bounds the exponent of a key, and so what it takes in plain form. No
// float64 has a larger one.
const mostExponent = 400

// plainNumber returns a JSON number without an exponent and needless zeros: 1, 1.0 and
// 10e-1 are the same key.
func plainNumber(text string) (string, error) {
	text, negative := strings.CutPrefix(text, "-")
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent, err := strconv.Atoi(cmp.Or(power, "0"))
	if err != nil || exponent < -mostExponent || exponent > mostExponent {
		return "", errors.New("has an exponent that is too large")
	}
	if exponent >= 0 {
		fraction += strings.Repeat("0", max(exponent-len(fraction), 0))
		whole, fraction = whole+fraction[:exponent], fraction[exponent:]
	} else {
		whole = strings.Repeat("0", max(-exponent-len(whole), 0)) + whole
		whole, fraction = whole[:len(whole)+exponent], whole[len(whole)+exponent:]+fraction
	}
	whole, fraction = cmp.Or(strings.TrimLeft(whole, "0"), "0"), strings.TrimRight(fraction, "0")
	if fraction != "" {
		whole += "." + fraction
	}
	if negative && whole != "0" {
		whole = "-" + whole
	}
	return whole, nil
}
