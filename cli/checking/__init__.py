"""What `./hpc check` does: files to documents, documents to findings, findings to lines and reports."""
