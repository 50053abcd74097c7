import { Command, CommandRunner, Option } from 'nest-commander';
import { envName } from '../../foundation/config/env';
import { newSecret } from '../../foundation/platform/crypto';
import { confirm, CommandRefused, reported } from './command-error';
import { EnvFile } from './env-file';

interface SecretOptions {
  guard?: string;
  show?: boolean;
  force?: boolean;
  envFile?: string;
}

/** Generates a secret for HS256, and writes it to the env file or prints it. */
@Command({ name: 'svc:secret', description: 'Make a signing secret for HS256 and write it to the env file' })
export class SecretCommand extends CommandRunner {
  run(_arguments: string[], options: SecretOptions = {}): Promise<void> {
    return reported(async () => {
      const name = variable(options.guard);
      if (options.show) process.stdout.write(`${newSecret()}\n`);
      else await write(name, options.envFile || '.env', options.force);
    });
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

  @Option({ flags: '--env-file <path>', description: 'the file to write to (default: .env)' })
  envFile(path: string): string {
    return path;
  }
}

function variable(guard: string | undefined): string {
  if (guard === undefined) return 'SVC_SECRET';
  // An empty name, as from an unset shell variable, must not change the secret of the default guard.
  if (/^[\w-]+$/.test(guard)) return `SVC_${envName(guard)}_SECRET`;
  throw new CommandRefused(`"${guard}" is no guard name. Use letters, digits, "_" and "-" only.`);
}

async function write(name: string, path: string, force = false): Promise<void> {
  const file = new EnvFile(path);
  if (!force && file.has(name)) {
    const question =
      `${name} is already set in ${path}. Tokens signed with it stop working, unless it moves to ` +
      `${name.replace(/SECRET$/, 'PREVIOUS_SECRETS')}. Overwrite it?`;
    if (!(await confirm(question))) {
      throw new CommandRefused(`${name} is already set in ${path} and was left as it is. Overwrite it with: --force`);
    }
  }
  file.set(name, newSecret());
  process.stdout.write(`${name} is set in ${path}.\n`);
}
