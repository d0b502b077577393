"""What a link does without any training: plain TCP, gRPC and MPI transfers."""
