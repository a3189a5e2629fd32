"""What a workload costs at an endpoint, and which endpoints meet what it asks for. Pure."""
