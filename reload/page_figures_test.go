package reload

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// wordsOf returns the words of a file, without what begins a comment's line.
func wordsOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(text))
	words = slices.DeleteFunc(words, func(word string) bool { return word == "//" })
	return strings.Join(words, " ")
}

// spanInDocs names the durations that the page names in words.
func spanInDocs(d time.Duration) string {
	switch d {
	case time.Second:
		return "a second"
	case 24 * time.Hour:
		return "a day"
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

func TestThePageHasTheFiguresOfTheCode(t *testing.T) {
	options := Options{Every: time.Second}
	options.setDefaults()
	numbers := map[time.Duration]string{5: "five", 10: "ten", 20: "twenty"}
	for sentence, name := range map[string]string{
		"A file is read " + spanInDocs(restTime) + " after its last change":                          "../docs/reload.md",
		"pauses in the middle for longer than " + spanInDocs(restTime) + " looks finished":           "../docs/reload.md",
		"goes on changing for " + spanInDocs(restMax) + " is tried later":                            "../docs/reload.md",
		"or at " + spanInDocs(firstRetry) + " while nothing is loaded":                               "../docs/reload.md",
		"sets the least time, " + spanInDocs(maxRetryAfter) + " at the most":                         "../docs/reload.md",
		"Hints lead to " + numbers[time.Second/minHint] + " attempts a second at the most":           "../docs/reload.md",
		fmt.Sprintf("the last %d swaps and failures", recentEvents):                                  "../docs/reload.md",
		"after failures; 0 stands for " + numbers[options.MaxBackoff/options.Every] + " times Every": "options.go",
	} {
		if !strings.Contains(wordsOf(t, name), sentence) {
			t.Errorf("%s does not say %q", name, sentence)
		}
	}
}

func TestPollsComeAtTheTimesThatThePageSays(t *testing.T) {
	t.Parallel()
	r := &Reloader{options: Options{Every: time.Hour}}
	least, most := time.Duration(1<<62), time.Duration(0)
	for range 1000 {
		least, most = min(least, r.poll()), max(most, r.poll())
	}
	said := fmt.Sprintf("%.1f to %.1f of", least.Hours(), most.Hours())
	if least < 54*time.Minute || most > 66*time.Minute {
		t.Errorf("polls come after %v to %v", least, most)
	}
	for name, sentence := range map[string]string{"../docs/reload.md": "after " + said + " `Every`", "options.go": "after " + said + " it"} {
		if !strings.Contains(wordsOf(t, name), sentence) {
			t.Errorf("%s does not say %q", name, sentence)
		}
	}
}
