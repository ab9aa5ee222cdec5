import type { PrepareDeps } from '../runs/ports.ts';
import type { ResumeDeps } from '../runs/resume.ts';
import type { RunService } from '../runs/runs.ts';
import { createChat } from '../sessions/chat.ts';
import { type Compaction, createCompaction } from '../sessions/compact.ts';
import { createFreeSession } from '../sessions/free-session.ts';
import { createFindSession } from '../sessions/names.ts';
import { leaveTurnOf } from '../sessions/leave-turn.ts';
import { resumedTurn } from '../sessions/resumed-turn.ts';
import { summaryChain } from '../sessions/summary-chain.ts';
import { createSessionCopies } from '../store/session-copies.ts';
import { createSessionSummaries } from '../store/session-summaries.ts';
import { runsAgain } from '../schema/message.ts';
import { compactChainId } from '../schema/session.ts';
import type { Chains } from '../workspace/chains.ts';
import { sha256Of } from '../workspace/files.ts';
import type { RoomsInput } from './rooms-input.ts';

type SessionTurnsInput = RoomsInput & {
  readonly chains: Pick<Chains, 'storedChain'>;
  readonly runs: () => Pick<RunService, 'startTurn'>;
  readonly tools: PrepareDeps['tools'];
};

/** The runs of sessions: turns, and summaries of them. */
export function openSessionTurns(input: SessionTurnsInput) {
  const { store, now, options } = input;
  const mask = input.secrets.maskDeep;
  const { sessions } = store;
  const free = createFreeSession({
    ...store,
    now,
    mask,
    say: input.warn,
    isReader: (tools, tool) =>
      input
        .tools({ shell: false, plans: false })
        .some(({ spec }) => spec.tools === tools && spec.tool === tool && runsAgain(spec)),
    activeId: () => sessions.activeId(),
    sessionNamed(name) {
      if (name !== null) return sessions.byName(name.normalize('NFC'));
      const id = sessions.activeId();
      return id === null ? undefined : sessions.byId(id);
    },
  });
  const service: Pick<RunService, 'startTurn'> = { startTurn: (...wanted) => input.runs().startTurn(...wanted) };
  const chain = () =>
    input.chains.storedChain(
      { chain_id: compactChainId, chain_path: null, chain_sha256: sha256Of(summaryChain) },
      summaryChain,
    );
  const compaction: Compaction = createCompaction({
    ...store,
    copies: createSessionCopies(store.sql, options.tenant),
    summaries: createSessionSummaries(store.sql, options.tenant),
    free,
    startRun: async (wanted, turn) => service.startTurn(wanted, turn, await chain()),
    model: () => store.settings.value('compact-model'),
    find: createFindSession(sessions),
    now,
  });
  /** The session's side of a run that goes on. */
  const sessionTurn: ResumeDeps['sessionTurn'] = (run) => {
    if (run.kind === 'compact') return compaction.resumed(run);
    return run.session_id === null ? null : resumedTurn(sessions, run.session_id, run.id);
  };
  const left: ResumeDeps['left'] = (head, failure) => leaveTurnOf({ ...store, now, mask }, head, failure);
  const { compactSession, forkWithSummary } = compaction;
  return {
    ...createChat({ ...store, free, service, now, mask }),
    interruptedTurn: async ({ session }: { readonly session: string | null }) => free.interrupted(session),
    compactSession,
    forkWithSummary,
    /** The sessions' side of runs that go on, or could not. */
    resumed: { sessionTurn, left },
  };
}
