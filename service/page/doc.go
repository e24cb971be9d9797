// Package page is what people look at: the list of campaigns, one campaign live, two
// compared. It is a handful of files in the binary, plain modules of JavaScript without a
// build step, that speak to the service's API; nothing is loaded from elsewhere.
//
// The graphs are drawn by uPlot 1.6.32, in assets/vendor with its licence.
package page
