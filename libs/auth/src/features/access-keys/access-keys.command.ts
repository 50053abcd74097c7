import type { manifest } from '../../kit';
import { AccessKeyStore, type ListedKey } from './access-key.store';
import { AccessKeys, type KeySpec } from './access-keys';

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
    const { service, id } = given;
    const keys = services.get(AccessKeys);
    if (action === 'revoke')
      return id !== undefined && (await keys.revoke(id))
        ? { done: `Revoked ${id}.` }
        : { refused: 'No key was revoked: name one that has not ended, with --id.' };
    if (action !== 'create' && action !== 'list')
      return { refused: `"${action}" is no action. Use create, list or revoke.` };
    if (!service) return { refused: 'Name the service: --service ci.' };
    if (action === 'list') return { done: linesOf(await services.get(AccessKeyStore).list({ service })) };
    const created = await keys.create({ service }, specOf(service, given));
    const expiry = created.expires_at ?? 'never';
    return { done: `${created.access_key}\nThe key ${created.id} is shown only now. It expires ${expiry}.` };
  },
};

const specOf = (service: string, { label = service, abilities, days, networks }: Given): KeySpec => ({
  label,
  abilities: partsOf(abilities),
  // A blank list would be every network.
  networks: networks?.trim() === '' ? [networks] : partsOf(networks),
  ...(days !== undefined && { expiresInDays: Number(days) }),
});

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
