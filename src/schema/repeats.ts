/** A request that is to happen once, however often it is sent (09 §5.4). */
export type RepeatedRequest = {
  /** Whose keys these are: the operator's own, or those of programs with the access token. */
  readonly credential: 'operator' | 'token';
  readonly key: string;
  /** Of route and body. */
  readonly sha256: string;
};

export type KeptReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: unknown;
};

/** What is known of a request when it comes. */
export type Repetition =
  | { readonly state: 'first' }
  /** The first one has no reply yet, or its server was killed before it had one. */
  | { readonly state: 'going' }
  /** The key was used for something else. */
  | { readonly state: 'other' }
  | { readonly state: 'answered'; readonly reply: KeptReply };

/** First replies by their keys, for a day; they outlast the process. */
export type RepeatRecords = {
  /** Claims the key where nobody has, durably: of two that come together one is the first. */
  begin(request: RepeatedRequest): Repetition;
  answered(request: RepeatedRequest, reply: KeptReply): void;
  /** Nothing was begun: the next one with this key is the first again. */
  forget(request: RepeatedRequest): void;
  prune(): void;
};
