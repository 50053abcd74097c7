// Makes a pipe look like a terminal, so that a test can answer the question of a command.
process.stdin.isTTY = true;
