import { UserProvider } from '@svc/auth';

/** This service has no users: it accepts those of the issuer. */
export class Subjects extends UserProvider<{ id: string }> {
  findById = async (id: string) => ({ id });
  findByIdentifier = async () => null;
  idOf = ({ id }: { id: string }) => id;
  passwordHashOf = async () => null;
  savePasswordHash = async () => false;
}
