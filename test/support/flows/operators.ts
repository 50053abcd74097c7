import { Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import {
  Abilities,
  type AuthModuleOptions,
  Authenticated,
  type Caller,
  CurrentCaller,
  RequireConfirmation,
} from '@svc/auth';
import { Actor, type ActingOperator, RefuseActor } from '@svc/auth/operators';
import { TestApp } from '../hosts/app';
import { Person } from '../hosts/user-entities';
import { CONFIRMATION_HEADER, confirmationTokenOf } from './step-up';

/** Routes of a host that an operator calls as a user. */
@Controller('orders')
export class OperatedOrders {
  @Get()
  @Abilities('orders.read')
  list(@CurrentCaller() { userId }: Caller, @Actor() actor: ActingOperator | null) {
    return { of: userId, by: actor };
  }

  @Post()
  @Authenticated()
  @RefuseActor()
  create(@Actor() actor: ActingOperator | null) {
    return { by: actor };
  }

  @Delete()
  @HttpCode(204)
  @RequireConfirmation()
  empty() {}
}

/** The abilities by guard, or by guard and user (`admin:7`), as the tests change them. */
export const granted: Record<string, string[]> = {};

export function resetGranted(): void {
  for (const name of Object.keys(granted)) delete granted[name];
  granted.api = ['orders.*', 'profile'];
  granted.admin = ['svc.operators.*'];
}

/** A guard of operators for the users of the default guard. */
export const operatorOptions = (
  more: Partial<AuthModuleOptions> = {},
  admin: NonNullable<AuthModuleOptions['guards']>[string] = {},
): Partial<AuthModuleOptions> => ({
  ...more,
  hooks: { abilities: (userId, { guard }) => granted[`${guard}:${userId}`] ?? granted[guard] ?? [], ...more.hooks },
  guards: {
    admin: {
      ...admin,
      features: { operators: true, ...admin.features },
      operators: { abilities: ['orders.read', 'orders.write'], ...admin.operators },
    },
  },
});

/** A signed-in operator who has confirmed. */
export interface SignedInOperator {
  readonly token: string;
  readonly refreshToken: string;
  readonly proof: string;
}

export async function operatorSession(t: TestApp, email = 'root@example.com'): Promise<SignedInOperator> {
  const { access_token: token, refresh_token: refreshToken } = await t.session(email, 'admin');
  return { token, refreshToken, proof: await confirmationTokenOf(t, token, 'admin') };
}

/** An action of an operator. */
export const act = (
  t: TestApp,
  { token, proof }: Pick<SignedInOperator, 'token' | 'proof'>,
  user: string,
  action: string,
  body: object = {},
) =>
  t
    .call('post', `${t.paths.admin}/operators/users/${user}/${action}`, token)
    .set(CONFIRMATION_HEADER, proof)
    .send({ reason: 'ticket 7', ...body });

/** Causes every refusal of operators, at a host whose operators are among its users. */
export async function refusedActions(options: Partial<AuthModuleOptions>): Promise<void> {
  resetGranted();
  granted['admin:2'] = [];
  const own = operatorOptions(options, { users: { entity: Person } });
  const t = await TestApp.start({ controllers: [OperatedOrders], options: own });
  for (const email of ['root@example.com', 'ada@example.com']) await t.person(email);
  const operator = await operatorSession(t);
  await act(t, operator, '999', 'suspend').expect(404);
  await act(t, operator, '1', 'suspend').expect(403);
  await act(t, operator, '2', 'restore').expect(409);
  const { body } = await act(t, operator, '2', 'act').expect(200);
  await t.call('post', '/orders', body.access_token).expect(403);
  await t.stop();
}
