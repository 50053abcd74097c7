import { Command, CommandRunner, Option } from 'nest-commander';
import { reported } from './command-error';
import { type KeygenOptions, keygen } from './keygen';

/** Generates a key pair for ES256 or RS256 and prints it. It writes no file. */
@Command({ name: 'svc:keygen', description: 'Make a key pair that signs tokens and print it; nothing is written' })
export class KeygenCommand extends CommandRunner {
  run(_arguments: string[], options: KeygenOptions = {}): Promise<void> {
    return reported(() => void process.stdout.write(keygen(options)));
  }

  @Option({ flags: '--algorithm <name>', description: 'ES256 or RS256 (default: ES256)' })
  algorithm(name: string): string {
    return name;
  }

  @Option({ flags: '--kid <kid>', description: 'the name of the key (default: a random one)' })
  kid(kid: string): string {
    return kid;
  }

  @Option({ flags: '--rotate', description: 'also print how to replace the running key' })
  rotate(): boolean {
    return true;
  }
}
