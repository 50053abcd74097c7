import { AsyncLocalStorage } from 'node:async_hooks';

/** Says for whom something is hashed: the client, then the account it names. */
type Applicant = () => readonly string[];

const applicants = new AsyncLocalStorage<Applicant>();

/** Runs `work`; whatever is hashed in it is hashed for this applicant, who is asked for only then. */
export const onBehalfOf = <T>(applicant: Applicant, work: () => T): T => applicants.run(applicant, work);

/** For whom the current work is done; nobody in particular outside a request to the library's routes. */
export const currentApplicant = (): readonly string[] => applicants.getStore()?.() ?? [];
