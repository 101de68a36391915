"""What the Makefile runs: set-up, the demo, the locks. No part of either distribution."""
