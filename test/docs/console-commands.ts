import { AuthConsoleModule } from '@svc/auth/console';
import type { Type } from '@nestjs/common';

/** The commands of the console, alone and with each of their flags: `svc:prune --lockout-days`. */
export function consoleCommands(): string[] {
  const providers = Reflect.getMetadata('providers', AuthConsoleModule) as Type[];
  return providers.flatMap((provider) => {
    const name = (Reflect.getMetadata('CommandBuilder:Command:Meta', provider) as { name: string } | undefined)?.name;
    if (name === undefined) return [];
    const members = Object.values(Object.getOwnPropertyDescriptors(provider.prototype));
    const options = members.map(({ value }) => value && Reflect.getMetadata('CommandBuilder:Option:Meta', value));
    const flags = options.flatMap((option) => (option ? (option.flags as string).match(/--?[\w-]+/g)! : []));
    return [name, ...flags.map((flag) => `${name} ${flag}`)];
  });
}
