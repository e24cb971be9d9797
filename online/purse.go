package online

// purse is the account by which libtutti holds exploring down within a job (account in
// csource/runtime/race.c): a share of the time of what is selected comes in with each call,
// and what explored calls spare; what they take longer goes out. What bringing times together
// costs is not in it.
type purse struct {
	share    float64
	balance  float64     // seconds
	selected []average   // of each class, in this job
	explored [][]average // of each class and algorithm
}

// average of times.
type average struct {
	sum float64
	n   int
}

func (a *average) add(seconds float64) { a.sum, a.n = a.sum+seconds, a.n+1 }

// value is 0 of nothing.
func (a average) value() float64 { return a.sum / float64(max(1, a.n)) }

func newPurse(p Problem, share float64) purse {
	out := purse{share: share, selected: make([]average, len(p.Classes)), explored: make([][]average, len(p.Classes))}
	for i, c := range p.Classes {
		out.explored[i] = make([]average, len(c.Algorithms))
	}
	return out
}

// known reports whether what is selected was timed: before that nothing is explored.
func (p *purse) known(class int) bool { return p.selected[class].n > 0 }

// earn enters a call of a class, of which exploring may cost so many times what is selected
// beside the share.
func (p *purse) earn(class int, spend float64) {
	p.balance += (p.share + spend) * p.selected[class].value()
}

// holds reports whether a call of an algorithm is paid for: what twice its time costs beyond
// what is selected. One that was not called in the job may take so many times what is selected
// as most says; where nothing is known, twice.
func (p *purse) holds(class, algorithm int, most []float64) bool {
	selected := p.selected[class].value()
	price := selected
	if t := p.explored[class][algorithm]; t.n > 0 {
		price = 2*t.value() - selected
	} else if most != nil {
		price = (most[algorithm] - 1) * selected
	}
	return price <= 0 || p.balance >= price
}

// spend enters the time of an explored call.
func (p *purse) spend(class, algorithm int, seconds float64) {
	p.explored[class][algorithm].add(seconds)
	p.balance += p.selected[class].value() - seconds
}
