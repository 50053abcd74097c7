import { Controller, Get } from '@nestjs/common';
import { JwtModule, JwtService } from '@nestjs/jwt';
import { TestApp, claimsOf } from '../support/hosts/app';
import { HostController } from '../support/hosts/host.module';

const HOST = { secret: 'a-secret-of-the-host-for-its-own-links-0123456789', algorithm: 'HS512' } as const;

const headerOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString());

@Controller('links')
class LinksController {
  constructor(private readonly jwt: JwtService) {}

  @Get()
  link() {
    return { token: this.jwt.sign({ sub: '1' }) };
  }
}

describe('a host with its own JwtModule', () => {
  const { secret, algorithm } = HOST;
  const own = JwtModule.register({
    global: true,
    secret,
    signOptions: { algorithm, expiresIn: 5, issuer: 'the host' },
    verifyOptions: { algorithms: [algorithm], issuer: 'the host' },
  });
  const t = TestApp.forFile({ imports: [own], controllers: [LinksController, HostController] });

  it('signs and verifies its own tokens with its own options, and the library refuses them', async () => {
    const { token } = (await t.get('/links').expect(200)).body;
    expect(headerOf(token)).toEqual({ alg: 'HS512', typ: 'JWT' });
    expect(t.app.get(JwtService, { strict: false }).verify(token)).toMatchObject({ sub: '1', iss: 'the host' });
    await t.person('ada@example.com');
    await t.get('/private', token).expect(401);
  });

  it('does not change the tokens of the library', async () => {
    await t.person('ada@example.com');
    const { access_token: token } = await t.session();
    expect(headerOf(token)).toEqual({ alg: 'HS256', typ: 'at+jwt' });
    const { iat, exp, iss } = claimsOf(token);
    expect([Number(exp) - Number(iat), iss]).toEqual([900, 'https://api.example.com']);
    await t.get('/private', token).expect(200);
    expect(() => t.app.get(JwtService, { strict: false }).verify(token)).toThrow();
  });
});

describe('a host without a JwtModule', () => {
  const t = TestApp.forFile();

  it('cannot inject the services that sign the tokens of the library', () => {
    expect(() => t.app.get(JwtService, { strict: false })).toThrow('JwtService');
  });
});
