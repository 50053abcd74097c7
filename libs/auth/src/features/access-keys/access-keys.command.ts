import { type manifest, errors, pg } from '../../kit';
import { AccessKeyStore, type ListedKey } from './access-key.store';
import { AccessKeys } from './access-keys';

type Answer = Awaited<ReturnType<manifest.ConsoleCommand['run']>>;
type Given = Readonly<Partial<Record<string, string>>>;

/** `svc:key create|list|revoke` */
export const KEY_COMMAND: manifest.ConsoleCommand = {
  arguments: [{ name: 'action', description: 'create, list or revoke' }],
  description: 'create, list and revoke the access keys of a service',
  options: {
    '--service <name>': 'the service, for create and list',
    '--label <text>': 'a name for people (create; default: the service)',
    '--abilities <names>': 'what the key may do, with commas (create; default: nothing)',
    '--days <number>': 'days until it expires (create; default: accessKeys.maxDays)',
    '--networks <list>': 'networks from which it is accepted, with commas (create)',
    '--id <id>': 'the key (revoke)',
  },
  async run(services, [action = ''], given): Promise<Answer> {
    const actions: Readonly<Record<string, () => Promise<Answer>>> = {
      create: () => create(services.get(AccessKeys), given),
      list: async () =>
        given.service
          ? { done: linesOf(await services.get(AccessKeyStore).list({ service: given.service })) }
          : { refused: 'Name the service: --service ci.' },
      revoke: async () =>
        given.id && pg.isUuid(given.id) && (await services.get(AccessKeys).revoke(given.id))
          ? { done: `Revoked ${given.id}.` }
          : { refused: 'No key was revoked: name one that has not ended, with --id.' },
    };
    const chosen = Object.hasOwn(actions, action) ? actions[action] : undefined;
    return chosen ? chosen() : { refused: `"${action}" is no action. Use create, list or revoke.` };
  },
};

async function create(keys: AccessKeys, { service, label, abilities, days, networks }: Given): Promise<Answer> {
  if (!service) return { refused: 'Name the service: --service ci.' };
  const spec = {
    label: label ?? service,
    abilities: partsOf(abilities),
    networks: partsOf(networks),
    ...(days !== undefined && { expiresInDays: Number(days) }),
  };
  try {
    const { access_key: text, id, expires_at: expiry } = await keys.create({ service }, spec);
    return { done: `${text}\nThe key ${id} is shown only now. It expires ${expiry ?? 'never'}.` };
  } catch (error) {
    if (error instanceof errors.ValidationFailed)
      return {
        refused: Object.values(error.getResponse().errors ?? {})
          .flat()
          .join(' '),
      };
    throw error;
  }
}

const partsOf = (list = ''): string[] =>
  list
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

const linesOf = (keys: readonly ListedKey[]): string =>
  keys
    .map(({ id, label, abilities, expires_at: expiry, last_used_at: used }) =>
      [id, label, abilities.join(' ') || '-', `expires ${expiry ?? 'never'}`, `used ${used ?? 'never'}`].join('  '),
    )
    .join('\n') || 'The service has no key.';
