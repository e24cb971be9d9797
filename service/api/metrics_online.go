package api

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// onlineCollector tells what was learnt in the watched folders of samples, by their last
// updates.
type onlineCollector struct{ backend Backend }

var (
	sampledDesc   = desc("online_calls", "Timed calls that count in a watched folder.", "folder")
	learnersDesc  = desc("online_jobs", "Jobs that have left samples in a watched folder.", "folder")
	exploringDesc = desc("online_exploring_ratio", "Time that exploring took, as a share of collective time.", "folder")
	gainDesc      = desc("online_over_default_ratio", "Time of all calls over that of the default, exploring included.", "folder")
	updatedDesc   = desc("online_updated_timestamp_seconds", "When the last table was made of a watched folder.", "folder")
	stuckDesc     = desc("online_stuck", "Whether there is no newer table of a watched folder for an error.", "folder")
)

func (onlineCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{sampledDesc, learnersDesc, exploringDesc, gainDesc, updatedDesc, stuckDesc} {
		out <- d
	}
}

func (c onlineCollector) Collect(out chan<- prometheus.Metric) {
	for _, o := range c.backend.Samples() {
		gauge := func(d *prometheus.Desc, v float64) {
			out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, o.Name)
		}
		stuck := 0.0
		if o.Error != "" {
			stuck = 1
		}
		gauge(stuckDesc, stuck)
		if o.Report == nil {
			continue
		}
		gauge(sampledDesc, float64(o.Report.Calls))
		gauge(learnersDesc, float64(o.Report.AllJobs))
		gauge(exploringDesc, o.Report.Price.Cost)
		if o.Report.Price.OverDefault > 0 {
			gauge(gainDesc, o.Report.Price.OverDefault)
		}
		gauge(updatedDesc, float64(o.Report.Time.UnixNano())/float64(time.Second))
	}
}
