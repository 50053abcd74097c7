import type { ExecutionContext } from '@nestjs/common';
import { BackgroundWork } from '../../foundation/platform/deadline';
import { AuthEvents } from '../../foundation/platform/auth-events';
import { recordCaller } from '../../identity/tokens/caller';
import { Grant } from '../../identity/users/grant';
import { AbilityDenials, InsufficientScope } from '../../request/abilities/ability.gate';
import { DetailedGate, Gates } from '../../request/gates/route-plan';
import { PinnedAbilityGate, type PinnedRequirement, PinnedSessions, RequireIfPinned } from './pinned-ability.gate';

class Account {
  @RequireIfPinned('svc.account')
  confirm() {}

  @RequireIfPinned('svc.account.delete', true)
  erase() {}
}

/** Whether a session pinned to `abilities` passes. */
async function passes(handler: () => void, abilities: string[], gateAuthRoutes: boolean): Promise<boolean> {
  const realm = { guard: 'api', options: { features: { gateAuthRoutes } } };
  const gate = new PinnedAbilityGate(
    realm as never,
    new PinnedSessions({ isPinned: async () => false } as never),
    new AbilityDenials(new AuthEvents(new BackgroundWork())),
  );
  const request = {};
  const caller = { guard: 'api', userId: '1', familyId: 'f', grant: new Grant(abilities), claims: { pin: true } };
  recordCaller(request, caller as never);
  const [required] = Gates.on(handler) as [DetailedGate<PinnedRequirement>];
  const context = {} as ExecutionContext;
  const refusal = await gate.check(context, request, required.detail).catch((error: unknown) => error);
  return !(refusal instanceof InsufficientScope);
}

describe('the ability to delete the account', () => {
  const { confirm, erase } = Account.prototype;

  it.each<[string[], boolean]>([
    [[], false],
    [['svc.account'], false],
    [['svc.*'], true],
    [['svc.account.*'], true],
    [['svc.account.delete'], true],
    [['*'], true],
  ])(
    'is granted to a session pinned to %j: %s, also when the library`s routes are not gated',
    async (abilities, held) => {
      expect(await passes(erase, abilities, true)).toBe(held);
      expect(await passes(erase, abilities, false)).toBe(held);
    },
  );

  it('is the only ability that is required when the routes are not gated', async () => {
    expect(await passes(confirm, [], true)).toBe(false);
    expect(await passes(confirm, [], false)).toBe(true);
  });
});
