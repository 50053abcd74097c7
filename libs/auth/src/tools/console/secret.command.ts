import { Command, CommandRunner, Option } from 'nest-commander';
import { reported } from './command-error';
import { type SecretOptions, makeSecret } from './env-file';

/** Generates a secret for HS256, and writes it to the env file or prints it. */
@Command({ name: 'svc:secret', description: 'Make a signing secret for HS256 and write it to the env file' })
export class SecretCommand extends CommandRunner {
  run(_arguments: string[], options: SecretOptions = {}): Promise<void> {
    return reported(() => makeSecret(options));
  }

  @Option({ flags: '--guard <name>', description: 'the extra guard that the secret is for' })
  guard(name: string): string {
    return name;
  }

  @Option({ flags: '--show', description: 'print the secret and write nothing' })
  show(): boolean {
    return true;
  }

  @Option({ flags: '-f, --force', description: 'overwrite a secret without asking' })
  force(): boolean {
    return true;
  }

  @Option({ flags: '--env <path>', description: 'the file to write to (default: .env)' })
  env(path: string): string {
    return path;
  }
}
