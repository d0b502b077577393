"""Reading records and comparing strategies; nothing here imports TensorFlow, Horovod or MPI."""
