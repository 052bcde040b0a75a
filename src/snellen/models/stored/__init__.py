"""Networks in files of other formats: what a file and its text say of the images, the answers and the batch."""
