package export_test

import (
	"regexp"
	"testing"

	"tutti/campaign/export"
	"tutti/internal/testutil/campaigntest"
)

// What cannot be written for is refused in the words of the flag.
func TestReleaseFaults(t *testing.T) {
	c := campaigntest.New(t, campaigntest.Small(t, t.TempDir()))
	for _, tc := range []struct {
		given []string
		want  string
	}{
		{[]string{"intel=2019"}, `^--for intel=2019: the campaign is for mpich, openmpi$`},
		{[]string{"mpich=4.9.1"}, `^--for mpich=4.9.1: nothing is known of mpich 4.9.1: want a release like 4.0.2, 4.1.2`},
		{[]string{"mpich=../../etc"}, `version "../../etc": want one like 4.2.3$`},
		{[]string{"openmpi="}, `version "": want one like`},
		{[]string{"openmpi=4.1.4:/usr/lib/libmpi.so"}, `a path is for mpich alone, whose files are made from the library's own tree$`},
		{[]string{"mpich=4.2.3"}, `give the path of its libmpich.so, as in --for mpich=4.2.3:PATH$`},
		{[]string{"mpich=4.0.2:"}, `the path is empty$`},
		{[]string{"openmpi", "openmpi=5.0.9"}, `^--for openmpi=5.0.9: openmpi is given twice: want one release of a library in a folder$`},
	} {
		if _, err := export.Releases(c, tc.given); err == nil || !regexp.MustCompile(tc.want).MatchString(err.Error()) {
			t.Errorf("Releases(%q) error = %v, want one like %q", tc.given, err, tc.want)
		}
	}
}

// Without a choice the libraries of the campaign are meant; another release is of the
// library that was measured.
func TestReleases(t *testing.T) {
	c := campaigntest.New(t, campaigntest.Small(t, t.TempDir()))
	for _, tc := range []struct{ given, want []string }{
		{nil, []string{"mpich", "openmpi"}},
		{[]string{"openmpi"}, []string{"openmpi"}},
		{[]string{"openmpi=6.0.1", "mpich"}, []string{"openmpi", "mpich"}},
	} {
		got, err := export.Releases(c, tc.given)
		if err != nil || len(got) != len(tc.want) {
			t.Errorf("Releases(%q) = %d releases, %v, want %q", tc.given, len(got), err, tc.want)
			continue
		}
		for i, r := range got {
			if r.Measured() != tc.want[i] {
				t.Errorf("Releases(%q)[%d] is of %s, want %s", tc.given, i, r.Measured(), tc.want[i])
			}
		}
	}
}
