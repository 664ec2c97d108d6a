"""What learns: one file for each network, the contract, and many networks stacked into one."""
