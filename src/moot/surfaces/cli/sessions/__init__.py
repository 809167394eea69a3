"""Commands of the panels Sessions and Approvals."""
