import type { Type } from '@nestjs/common';
import { Command, CommandRunner } from 'nest-commander';
import { FEATURES } from '../../features';
import type { ConsoleCommand, Feature } from '../../foundation/realm/feature';
import { Realms } from '../../foundation/realm/realm';
import { Application } from './application';
import { CommandRefused, reported } from './command-error';

/** Makes the command of a feature that runs in an application. */
function commandOf(feature: Feature, { name, description, argument, run }: ConsoleCommand): Type<CommandRunner> {
  @Command({
    name,
    description,
    arguments: `<${argument.name}>`,
    argsDescription: { [argument.name]: argument.description },
  })
  class FeatureCommand extends CommandRunner {
    constructor(private readonly application: Application) {
      super();
    }

    run([given = '']: string[]): Promise<void> {
      return reported(async () => {
        const result = await this.application.use(async (app) => {
          const scope = app.get(Realms, { strict: false }).default;
          return scope.isOn(feature) ? run(scope, given) : { refused: `features.${feature.flags![0]} is off.` };
        });
        if ('refused' in result) throw new CommandRefused(result.refused);
        process.stdout.write(`${result.done}\n`);
      });
    }
  }
  return FeatureCommand;
}

/** The commands of all features. */
export const FEATURE_COMMANDS = FEATURES.flatMap((feature) =>
  (feature.commands ?? []).map((command) => commandOf(feature, command)),
);
