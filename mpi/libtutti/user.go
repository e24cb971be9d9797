package libtutti

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tutti/coll"
	"tutti/internal/infile"
	"tutti/internal/lazyregexp"
	"tutti/mpi"
)

// objectsVariable names the shared objects with algorithms of users, separated by colons.
const objectsVariable = "TUTTI_ALGORITHMS"

// userInterface is the version of the array tutti_algorithms that libtutti can read.
const userInterface = 1

// maxObject is the largest size of an object with algorithms of users, in bytes.
const maxObject = 1 << 30

// userNeeds is the number of requirements that an algorithm of a user can have. The requirements are the first
// elements of the list `guarded`. If bit i of userEntry.Needs is set, the algorithm has requirement guarded[i].
const userNeeds = 5

// userEntry is an element of the array tutti_algorithms, without the pointer to its function; see
// csource/runtime/tutti_algorithm.h.
type userEntry struct {
	Interface          int32
	Needs              uint32
	MinRanks, MaxRanks int32
	Collective         [32]byte
	Name               [64]byte
	Parameter          [16]byte
}

// ReadUsers returns the algorithms of users in shared objects. It reads the files and does not load them. It
// accepts the same algorithms as csource/runtime/users.c.
func ReadUsers(objects []string) ([]mpi.User, error) {
	var all []mpi.User
	for _, object := range objects {
		if strings.Contains(object, ":") {
			return nil, fmt.Errorf("%s: want a path without a colon", object)
		}
		file, err := infile.Open(object, maxObject)
		if err != nil {
			return nil, err
		}
		data, pointer, order, err := userArray(file)
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", object, err)
		}
		var e userEntry
		for i := 1; ; i++ {
			n, err := binary.Decode(data, order, &e)
			if err != nil || e.Interface != 0 && (len(data) < n+pointer || e.Interface != userInterface) {
				return nil, fmt.Errorf("%s: algorithm %d: want an object built with the tutti_algorithm.h of this tutti, and {0} at the end of tutti_algorithms", object, i)
			}
			if e.Interface == 0 {
				break
			}
			u, err := e.user()
			if err == nil && slices.ContainsFunc(all, func(o mpi.User) bool { return o.Collective == u.Collective && o.Name == u.Name }) {
				err = errors.New("want each name once")
			}
			if err != nil {
				return nil, fmt.Errorf("%s: algorithm %d: %w", object, i, err)
			}
			u.Object = object
			all, data = append(all, u), data[n+pointer:]
		}
	}
	return all, nil
}

// userArray returns the content of the array tutti_algorithms of a shared object, and the number of bytes of a
// pointer there.
func userArray(object io.ReaderAt) (data []byte, pointer int, order binary.ByteOrder, err error) {
	f, err := elf.NewFile(object)
	if err != nil {
		return nil, 0, nil, err
	}
	symbols, err := f.DynamicSymbols()
	at := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == "tutti_algorithms" && s.Section != elf.SHN_UNDEF })
	if err != nil || at < 0 {
		return nil, 0, nil, errors.Join(errors.New("undefined symbol: tutti_algorithms"), err)
	}
	s := symbols[at]
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && s.Value >= p.Vaddr && s.Value-p.Vaddr < p.Filesz {
			data, err = io.ReadAll(io.NewSectionReader(p, int64(s.Value-p.Vaddr), int64(s.Size)))
		}
	}
	return data, map[elf.Class]int{elf.ELFCLASS32: 4, elf.ELFCLASS64: 8}[f.Class], f.ByteOrder, err
}

var userName = lazyregexp.New(`^[A-Za-z0-9_]+$`)

func (e userEntry) user() (u mpi.User, err error) {
	u = mpi.User{MinRanks: int(e.MinRanks), MaxRanks: int(e.MaxRanks)}
	text := func(field []byte) string {
		before, _, _ := bytes.Cut(field, []byte{0})
		return string(before)
	}
	if u.Name = text(e.Name[:]); !userName.MatchString(u.Name) || len(u.Name) == len(e.Name) {
		return u, errors.New("want a name of letters, digits and _")
	}
	if u.Collective, err = parseCollective(text(e.Collective[:])); err != nil {
		return u, fmt.Errorf("want a collective like reduce_scatter: %w", err)
	}
	if e.Needs >= 1<<userNeeds || e.MinRanks < 0 || e.MaxRanks < 0 {
		return u, errors.New("want known requirements")
	}
	for i, r := range guarded[:userNeeds] {
		if e.Needs&(1<<i) != 0 {
			u.Needs = append(u.Needs, r)
		}
	}
	if u.Parameter = text(e.Parameter[:]); u.Parameter != "" && parameterValues[u.Parameter] == nil {
		return u, errors.New("want the parameter segsize, radix, window, barriers or none")
	}
	return u, nil
}

// WithUsers returns a copy of a catalogue of libtutti that also has the algorithms of users.
func WithUsers(cat *mpi.Catalogue, users []mpi.User) *mpi.Catalogue {
	return cat.WithUsers(users, parameterValues, checkParameters)
}

// objectsOf returns the value of TUTTI_ALGORITHMS: the shared objects with the users' algorithms for which the
// function `keep` returns true. It returns "" if there are none.
func objectsOf(cat *mpi.Catalogue, keep func(coll.Collective, mpi.Entry) bool) string {
	var paths []string
	for _, c := range coll.Collectives() {
		for _, e := range cat.Entries(c) {
			if e.Object != "" && !slices.Contains(paths, e.Object) && keep(c, e) {
				paths = append(paths, e.Object)
			}
		}
	}
	return strings.Join(paths, ":")
}

// isUsers reports whether an algorithm can be one that a user wrote. It checks the form of the name and of the
// parameters.
func isUsers(alg coll.Algorithm) bool {
	inner, ok := mpi.Below(mpi.UserLibrary, alg)
	params := alg.Params()
	if !ok || !userName.MatchString(inner.Name) || len(params) > 1 {
		return false
	}
	return len(params) == 0 || parameterValues[params[0].Name] != nil && isNumber(params[0].Value)
}
