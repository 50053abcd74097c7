import { AuthException } from '../kernel/auth.exception';

/** There is an account with this identifier already: 422 under the field that carried it. */
export class IdentifierTaken extends AuthException {
  constructor(field: string) {
    const params = { field: field.replaceAll('_', ' ') };
    super('identifier_taken', { status: 422, errors: { [field]: [{ key: 'validation.taken', params }] } });
  }
}
