import type { Type } from '@nestjs/common';
import { Command, CommandRunner, Option } from 'nest-commander';
import { Application } from './application';
import type { CommandDeclaration, Given } from './command';
import { reported } from './command-error';

/** Makes the class with which nest-commander runs a command. */
export function nestCommand(name: string, declaration: CommandDeclaration<[Application]>): Type<CommandRunner> {
  const { description, argument, options = {} } = declaration;
  const ofArgument = argument && {
    arguments: `<${argument.name}>`,
    argsDescription: { [argument.name]: argument.description },
  };

  @Command({ name: `svc:${name}`, description, ...ofArgument })
  class DeclaredCommand extends CommandRunner {
    constructor(private readonly application: Application) {
      super();
    }

    run([first]: string[], given: Given = {}): Promise<void> {
      const all = argument ? { ...given, [argument.name]: first } : given;
      return reported(async () => void (await declaration.run(all, this.application)));
    }
  }
  // nest-commander finds the options of a command by the name of its class.
  Object.defineProperty(DeclaredCommand, 'name', { value: name });
  for (const [flags, text] of Object.entries(options)) {
    const method = { value: (value: string) => value };
    Object.defineProperty(DeclaredCommand.prototype, flags, method);
    Option({ flags, description: text })(DeclaredCommand.prototype, flags, method);
  }
  return DeclaredCommand;
}
