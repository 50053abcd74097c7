import { Controller } from '@nestjs/common';
import { type ClientProxy, ClientProxyFactory, MessagePattern, Payload, Transport } from '@nestjs/microservices';
import { type AuthModuleOptions, Authenticated, CurrentUser, RequireConfirmation } from '@svc/auth';
import { firstValueFrom } from 'rxjs';
import { freePort } from '../../apps/sample/src/dev/embedded-postgres';
import { TestApp } from '../support/hosts/app';
import { ADA, type Person } from '../support/hosts/user-entities';

interface Message {
  authorization?: string;
}

@Controller()
class Messages {
  @MessagePattern('me')
  @Authenticated()
  me(@Payload() _message: Message, @CurrentUser() user: Person) {
    return user.email;
  }

  @MessagePattern('erase')
  @RequireConfirmation()
  erase() {
    return 'done';
  }
}

/** What a microservice answers has no headers: the token is in the message. */
const requestOf: AuthModuleOptions['requestOf'] = (context) =>
  context.getType() === 'rpc' ? { headers: { ...context.switchToRpc().getData<Message>() } } : undefined;

describe('a handler of a microservice', () => {
  let port: number;
  let caller: ClientProxy;
  const t = TestApp.forFile(async () => {
    port = await freePort();
    return {
      options: { requestOf },
      controllers: [Messages],
      prepare: (app) =>
        void app.connectMicroservice({ transport: Transport.TCP, options: { host: '127.0.0.1', port } }),
    };
  });
  beforeAll(async () => {
    await t.app.startAllMicroservices();
    caller = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
  });
  afterAll(() => caller.close());
  beforeEach(() => t.person(ADA));

  const ask = (pattern: string, token?: string): Promise<unknown> =>
    firstValueFrom(caller.send(pattern, token === undefined ? {} : { authorization: `Bearer ${token}` }));

  it('gets the user, and the calling service gets each refusal as what it is', async () => {
    const { access_token: token } = await t.session();
    expect(await ask('me', token)).toBe(ADA);
    const refused = {
      status: 'error',
      message: 'Authentication is required.',
      code: 'UNAUTHENTICATED',
      statusCode: 401,
    };
    await expect(ask('me')).rejects.toEqual({ ...refused, headers: { 'WWW-Authenticate': 'Bearer' } });
    await expect(ask('me', 'no.such.token')).rejects.toMatchObject(refused);
    await expect(ask('erase', token)).rejects.toMatchObject({ code: 'LOCKED', statusCode: 423 });
  });
});
