// Makes a pipe look like a terminal, so that a test can answer a command's question.
process.stdin.isTTY = true;
