/** Who a request comes from, as a fair share of the hasher is counted. */
export abstract class Applicants {
  /** The client, then the account it names. Neither is kept: both are hashed. */
  abstract of(request: object): readonly string[];
}
