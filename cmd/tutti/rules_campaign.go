package main

import (
	"os"

	"github.com/spf13/cobra"
)

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (s *ruleShower) showCampaign(cmd *cobra.Command, folder string) error { return nil }
