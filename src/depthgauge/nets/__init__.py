"""Networks, the contract they keep, and the tools that read any network at its block boundaries."""
