CREATE TABLE rainbow_budget (
	id INTEGER NOT NULL CHECK (id = 1), 
	version INTEGER NOT NULL, 
	dataset TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	neighbors TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	total_epsilon TEXT, 
	total_delta TEXT, 
	total_mu_squared TEXT, 
	spent_epsilon TEXT, 
	spent_delta TEXT, 
	spent_mu_squared TEXT, 
	entries INTEGER NOT NULL, 
	sources TEXT NOT NULL, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "rainbow_budget" VALUES(1,2,'town-2026','{"kind": "person", "column": "voter"}','added or removed','dp','3','1/100000',NULL,'7445805068304047801273845977179042083443/11909882842232846221218111260111887400960','1/1000000',NULL,3,'["votes, final count", "votes, first count"]','3793b9d1bd3cb4b0b4a15b31b483ea5f6748282601ab7bde521cc1da0f58ea5a');
CREATE TABLE rainbow_entries (
	number INTEGER NOT NULL, 
	time TEXT NOT NULL, 
	name TEXT, 
	source TEXT, 
	question TEXT NOT NULL, 
	mechanism TEXT, 
	guarantee TEXT NOT NULL, 
	epsilon TEXT, 
	delta TEXT, 
	mu_squared TEXT, 
	answer TEXT, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (name)
);
INSERT INTO "rainbow_entries" VALUES(1,'2026-11-17T12:35:37+00:00','poll 0','votes, final count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "dp", "epsilon": "3/10", "delta": "1/1000000"}','3/10','1/1000000',NULL,'"red"','3544ec3c1b837e737e9f40da5f51287f4b46a1fe8ccdb7c016e3dd5e507e2228');
INSERT INTO "rainbow_entries" VALUES(2,'2026-11-17T12:35:37+00:00',NULL,'votes, first count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "dp", "epsilon": "1/7", "delta": "0"}','1/7','0',NULL,'"gr\u00fcn"','b6418d5411b185165c521df90b492cc9c364cb718377114ef15c561d1eafcfd8');
INSERT INTO "rainbow_entries" VALUES(3,'2026-11-17T12:35:37+00:00','poll 2','votes, final count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "dp", "ratio": "6/5", "delta": "0"}','62040810886557189074043987485332423025/340282366920938463463374607431768211456','0',NULL,NULL,'f72b7b96bfe2adc9f2972c9672e6d7cb36ae0b2a71910eced14fda28e661b690');
