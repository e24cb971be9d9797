package service_test

import (
	_ "github.com/chromedp/chromedp"
	_ "github.com/danielgtaylor/huma/v2/adapters/humago"
	_ "github.com/danielgtaylor/huma/v2/sse"
	_ "github.com/go-co-op/gocron/v2"
	_ "github.com/jonboulle/clockwork"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/prometheus/client_golang/prometheus/testutil"
	_ "golang.org/x/time/rate"
)
