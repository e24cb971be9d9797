package lab

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tutti/coll"
)

// The constants of IOTA. Weights lie between 3 and 50 %. A collective counts as trained when minTrained
// algorithms have at least minCalls calls each. Steiner's thesis (2023) specifies neither minCalls nor the
// unit of times.
const (
	minWeight    = 0.03
	maxWeight    = 0.50
	minTrained   = 5
	minCalls     = 10
	microseconds = 1e6 // in a second
)

// IOTA has a trained model for each algorithm: boosted trees that predict its time in microseconds. It is
// nil if the collective has too few calls.
type IOTA map[coll.Algorithm]boosted

// TrainIOTA trains a model for each algorithm that has enough calls. A measurement of n samples counts n
// times. If too few of the collective's algorithms have enough calls, TrainIOTA returns nil.
func TrainIOTA(ms []coll.Measurement, algorithms int) IOTA {
	type training struct {
		rows           [][]float64
		times, weights []float64
	}
	of := map[coll.Algorithm]*training{}
	for _, m := range ms {
		if of[m.Algorithm] == nil {
			of[m.Algorithm] = &training{}
		}
		t := of[m.Algorithm]
		t.rows = append(t.rows, iotaFeatures(m.Point))
		t.times = append(t.times, m.Seconds*microseconds)
		t.weights = append(t.weights, float64(max(1, m.Samples)))
	}
	out := IOTA{}
	for algorithm, t := range of {
		if floats.Sum(t.weights) >= minCalls {
			out[algorithm] = fitBoosted(t.rows, t.times, t.weights)
		}
	}
	if len(out) < min(minTrained, algorithms) {
		return nil
	}
	return out
}

// Seconds returns the predicted time of each algorithm at a point. For an algorithm without a model it is NaN.
func (m IOTA) Seconds(p coll.Point, algorithms []coll.Algorithm) []float64 {
	out := make([]float64, len(algorithms))
	for a, algorithm := range algorithms {
		out[a] = math.NaN()
		if trained := m[algorithm]; trained != nil {
			out[a] = trained.predict(iotaFeatures(p)) / microseconds
		}
	}
	return out
}

func iotaFeatures(p coll.Point) []float64 {
	return []float64{float64(p.Nodes), float64(p.PPN), float64(p.MsgBytes)}
}

// IOTAWeights returns weights in proportion to 1/t. It scales them to the sum 1, limits them to the range
// from minWeight to maxWeight, and scales them again. An unknown time is NaN and gets the mean weight of
// the known times. If no time is known, all weights are equal.
//
// Source: Steiner (2023), sections 4.5.2 and 4.6.2.
func IOTAWeights(seconds []float64) []float64 {
	out := make([]float64, len(seconds))
	known, sum := 0, 0.0
	for i, t := range seconds {
		if !math.IsNaN(t) {
			out[i] = 1 / t
			known++
			sum += out[i]
		}
	}
	for i, t := range seconds {
		if known == 0 {
			out[i] = 1
		} else if math.IsNaN(t) {
			out[i] = sum / float64(known)
		}
	}
	floats.Scale(1/floats.Sum(out), out)
	for i, w := range out {
		out[i] = min(maxWeight, max(minWeight, w))
	}
	floats.Scale(1/floats.Sum(out), out)
	return out
}

// Parameters of IOTA's trees. Steiner's thesis (2023) specifies 200 trees and a Tweedie loss without further
// tuning. The other parameters are the defaults of XGBoost 1.6.2, which IOTA uses. Their XGBoost names are
// in parentheses.
const (
	boostedTrees    = 200
	boostedRate     = 0.3  // fraction of the Newton step that a tree adds (eta)
	boostedDepth    = 6    // splits above a leaf (max_depth)
	boostedPenalty  = 1    // penalty of squared steps (reg_lambda)
	minHessian      = 1    // smallest second derivative of a child's loss (min_child_weight)
	minGain         = 1e-6 // smallest gain of a split (kRtEps)
	tweediePower    = 1.5  // the variance of a time is its mean to this power (tweedie_variance_power)
	firstPrediction = 0.5  // prediction before the first tree (base_score)
)

// boosted predicts positive numbers by gradient-boosted regression trees with a Tweedie loss, as XGBoost does
// with exact splits. Each tree makes a Newton step for f, the logarithm of the prediction. With the power p, the
// loss of a target y is -y·exp((1-p)f)/(1-p) + exp((2-p)f)/(2-p).
//
// Source: Chen and Guestrin, XGBoost: A Scalable Tree Boosting System (KDD 2016), section 2 and algorithm 1.
type boosted []*boostedNode

// boostedNode is a node of a tree. Rows whose feature is below the threshold go to the left.
type boostedNode struct {
	feature     int
	threshold   float64
	left, right *boostedNode // nil in a leaf
	step        float64      // of a leaf
}

// loss contains the sums of the first two derivatives of the loss with respect to f, the logarithm of the
// prediction.
type loss struct{ gradient, hessian float64 }

func (l loss) plus(o loss) loss  { return loss{l.gradient + o.gradient, l.hessian + o.hessian} }
func (l loss) minus(o loss) loss { return loss{l.gradient - o.gradient, l.hessian - o.hessian} }

// reduction returns twice the amount by which the Newton step reduces the loss.
func (l loss) reduction() float64 { return l.gradient * l.gradient / (l.hessian + boostedPenalty) }

// fitBoosted trains trees on rows of features. A row of weight w counts as w rows. It takes O(trees · depth
// · features · rows) operations.
func fitBoosted(rows [][]float64, targets, weights []float64) boosted {
	order := make([][]int, len(rows[0])) // rows sorted by each feature
	for feature := range order {
		for i := range rows {
			order[feature] = append(order[feature], i)
		}
		slices.SortStableFunc(order[feature], func(i, j int) int { return cmp.Compare(rows[i][feature], rows[j][feature]) })
	}
	f, losses := slices.Repeat([]float64{math.Log(firstPrediction)}, len(rows)), make([]loss, len(rows))
	b := make(boosted, boostedTrees)
	for k := range b {
		for i, w := range weights {
			y, mean := w*targets[i]*math.Exp((1-tweediePower)*f[i]), w*math.Exp((2-tweediePower)*f[i])
			losses[i] = loss{mean - y, (2-tweediePower)*mean - (1-tweediePower)*y}
		}
		b[k] = growBoosted(rows, losses, order, boostedDepth)
		for i, row := range rows {
			f[i] += b[k].stepOf(row)
		}
	}
	return b
}

// growBoosted returns a tree. `order` has, for each feature, the tree's rows sorted by this
// feature.
func growBoosted(rows [][]float64, losses []loss, order [][]int, depth int) *boostedNode {
	var all loss
	for _, i := range order[0] {
		all = all.plus(losses[i])
	}
	n := &boostedNode{}
	if all.hessian >= minHessian {
		n.step = -boostedRate * all.gradient / (all.hessian + boostedPenalty)
	}
	if depth == 0 || !n.split(rows, losses, order, all) {
		return n
	}
	left, right := make([][]int, len(order)), make([][]int, len(order))
	for feature, sorted := range order {
		for _, i := range sorted {
			if rows[i][n.feature] < n.threshold {
				left[feature] = append(left[feature], i)
			} else {
				right[feature] = append(right[feature], i)
			}
		}
	}
	n.left, n.right = growBoosted(rows, losses, left, depth-1), growBoosted(rows, losses, right, depth-1)
	return n
}

// split sets the feature and threshold of the split that reduces the loss most. It returns false if no split
// reduces the loss by more than minGain.
func (n *boostedNode) split(rows [][]float64, losses []loss, order [][]int, all loss) bool {
	best := minGain
	for feature, sorted := range order {
		var right loss
		for k := len(sorted) - 1; k > 0; k-- {
			right = right.plus(losses[sorted[k]])
			left, below, above := all.minus(right), rows[sorted[k-1]][feature], rows[sorted[k]][feature]
			if below == above || left.hessian < minHessian || right.hessian < minHessian {
				continue
			}
			if gain := left.reduction() + right.reduction() - all.reduction(); gain > best {
				best, n.feature, n.threshold = gain, feature, (below+above)/2
			}
		}
	}
	return best > minGain
}

// stepOf returns the value of the leaf that a row reaches: a step of the logarithm of the prediction.
func (n *boostedNode) stepOf(row []float64) float64 {
	for n.left != nil {
		if row[n.feature] < n.threshold {
			n = n.left
		} else {
			n = n.right
		}
	}
	return n.step
}

func (b boosted) predict(row []float64) float64 {
	f := math.Log(firstPrediction)
	for _, tree := range b {
		f += tree.stepOf(row)
	}
	return math.Exp(f)
}
