import { Command, CommandRunner, Option } from 'nest-commander';
import { authOptionsFromEnv } from '../config/env';
import { type RunningKey, keyText, rotationText } from './key-text';
import { reported } from './refused';
import { newSigningKey } from './signing-key';

interface KeygenOptions {
  algorithm?: string;
  kid?: string;
  rotate?: boolean;
}

/** Makes a key pair for ES256 or RS256 and prints it; where it is kept is the operator's choice. */
@Command({ name: 'svc:keygen', description: 'Make a key pair that signs tokens and print it; nothing is written' })
export class KeygenCommand extends CommandRunner {
  run(_arguments: string[], { algorithm = 'ES256', kid, rotate }: KeygenOptions = {}): Promise<void> {
    return reported(() => {
      const key = newSigningKey(algorithm, kid);
      const steps = rotate ? rotationText(key, runningKey()) : '';
      process.stdout.write(keyText(key) + steps);
    });
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

function runningKey(): RunningKey {
  const { algorithm, keys = {} } = authOptionsFromEnv();
  const [[kid, publicKey] = [keys.active, undefined]] = Object.entries(keys.public ?? {});
  return { algorithm, kid, publicKey };
}
