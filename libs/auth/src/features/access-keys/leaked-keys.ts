import { Controller, Injectable, Req } from '@nestjs/common';
import { verify } from 'node:crypto';
import { Realm, deadline, errors, http } from '../../kit';
import { parseAccessKey } from './access-key.format';
import { AccessKeyStore } from './access-key.store';
import { AccessKeys } from './access-keys';
import { BadScannerSignature } from './access-keys.errors';
import { KeySecrets } from './key-authenticator';

type ScannerKeys = Readonly<Record<string, string>>;

/** A request with its bytes: the option `rawBody` of Nest. */
interface RawRequest {
  readonly rawBody?: Buffer;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Revokes the keys that a service has found in public. */
@Injectable()
export class LeakedKeys {
  constructor(
    private readonly keys: AccessKeys,
    private readonly store: AccessKeyStore,
    private readonly secrets: KeySecrets,
    private readonly realm: Realm,
  ) {}

  /**
   * Only the whole text of a key revokes it: its secret is compared, so a person cannot revoke the key of another one by its id.
   *
   * @throws BadScannerSignature, StoreUnavailable, ValidationFailed; AuthConfigError without the bytes of the request
   */
  async report({ rawBody, headers }: RawRequest): Promise<void> {
    if (!rawBody)
      throw new errors.AuthConfigError(
        'POST /access-keys/leaked needs the bytes of the request: NestFactory.create(AppModule, { rawBody: true }).',
      );
    const [keyId, signature] = ['identifier', 'signature'].map((name) => headers[`github-public-key-${name}`]);
    if (!(await this.isSigned(rawBody, keyId, signature))) throw new BadScannerSignature();
    for (const text of textsIn(rawBody)) await this.revoke(text);
  }

  /** ECDSA on P-256 with SHA-256 over the bytes of the body, as GitHub signs its reports. */
  private async isSigned(body: Buffer, keyId: unknown, signature: unknown): Promise<boolean> {
    const { scannerKeys = {} } = this.realm.options.accessKeys;
    const keys = typeof scannerKeys === 'function' ? await this.fetched(scannerKeys) : scannerKeys;
    if (typeof keyId !== 'string' || typeof signature !== 'string' || !Object.hasOwn(keys, keyId)) return false;
    try {
      return verify('sha256', body, keys[keyId]!, Buffer.from(signature, 'base64'));
    } catch {
      return false;
    }
  }

  private async fetched(keysOf: () => Promise<ScannerKeys>): Promise<ScannerKeys> {
    const keys: unknown = await deadline
      .callHost('accessKeys.scannerKeys', keysOf)
      .catch((cause: unknown) => Promise.reject(new errors.StoreUnavailable('accessKeys.scannerKeys', cause)));
    if (typeof keys === 'object' && keys !== null) return keys as ScannerKeys;
    throw new errors.StoreUnavailable('accessKeys.scannerKeys');
  }

  private async revoke(text: string): Promise<void> {
    const parts = parseAccessKey(text, this.realm.options.accessKeys.prefix);
    const row = parts && (await this.store.find(parts.id))?.row;
    if (row?.svc_guard === this.realm.guard && this.secrets.matches(parts!.id, parts!.secret, row.svc_mac))
      await this.keys.revoke(parts!.id, undefined, 'leaked');
  }
}

/** The texts of a report: `[{ "token": "…" }]`. @throws ValidationFailed */
function textsIn(body: Buffer): string[] {
  try {
    const found = JSON.parse(body.toString()) as readonly { readonly token?: unknown }[];
    return found.flatMap(({ token }) => (typeof token === 'string' ? token : []));
  } catch {
    throw new errors.ValidationFailed({ body: [{ key: 'validation.array', params: { field: 'body' } }] });
  }
}

@Controller('access-keys')
export class LeakedKeysController {
  constructor(private readonly leaked: LeakedKeys) {}

  @http.Route('POST', 'leaked', 'access_keys_leaked', {
    summary: 'Revokes access keys that a secret scanner has found',
    note: 'The scanner signs the bytes of the body. Unknown keys get the same answer.',
    public: true,
    unlimited: 'no store is read before the signature of the scanner is verified',
    refusals: [BadScannerSignature],
  })
  report(@Req() request: RawRequest): Promise<void> {
    return this.leaked.report(request);
  }
}
