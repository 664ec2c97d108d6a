"""The protocol on one network: every gauge, the verdict, and a report."""
