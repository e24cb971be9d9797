// Package page serves the web page of a service: the list of campaigns, a live view of a campaign,
// the comparison of two campaigns, and online learning in applications. The page consists of
// embedded JavaScript modules without a build step. They use the service's API and load nothing
// from other hosts.
//
// Modules that draw charts and maps are in package report. uPlot 1.6.32 draws the charts.
package page
