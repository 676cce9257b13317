CREATE TABLE rainbow_budget (
	id INTEGER NOT NULL CHECK (id = 1), 
	version INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	neighbours TEXT NOT NULL, 
	total_epsilon TEXT, 
	total_delta TEXT, 
	total_mu_squared TEXT, 
	spent_epsilon TEXT, 
	spent_delta TEXT, 
	spent_mu_squared TEXT, 
	entries INTEGER NOT NULL, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "rainbow_budget" VALUES(1,1,'dp','added or removed','3','1/100000',NULL,'7445805068304047801273845977179042083443/11909882842232846221218111260111887400960','1/1000000',NULL,3,'e2898c466f9df771a8fd03a5cbc1ac35a5c218c1f83ae525f42386c4da46353a');
CREATE TABLE rainbow_entries (
	number INTEGER NOT NULL, 
	time TEXT NOT NULL, 
	name TEXT, 
	question TEXT NOT NULL, 
	guarantee TEXT NOT NULL, 
	epsilon TEXT, 
	delta TEXT, 
	mu_squared TEXT, 
	answer TEXT, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (name)
);
INSERT INTO "rainbow_entries" VALUES(1,'2026-11-17T12:35:34+00:00','poll 0','{"among":["red","green"],"column":"choice","question":"winner"}','{"epsilon": "3/10", "delta": "1/1000000"}','3/10','1/1000000',NULL,'"red"','a8779d078b5818aa38be6d96636564b2fceb295da794325bffb288aaa7a8ece7');
INSERT INTO "rainbow_entries" VALUES(2,'2026-11-17T12:35:34+00:00',NULL,'{"among":["red","green"],"column":"choice","question":"winner"}','{"epsilon": "1/7", "delta": "0"}','1/7','0',NULL,'"gr\u00fcn"','6a500d0f6d0f9bb80e11b9de1607becde26bc9229039cbadd13839afe6379ab8');
INSERT INTO "rainbow_entries" VALUES(3,'2026-11-17T12:35:34+00:00','poll 2','{"among":["red","green"],"column":"choice","question":"winner"}','{"ratio": "6/5", "delta": "0"}','62040810886557189074043987485332423025/340282366920938463463374607431768211456','0',NULL,NULL,'805f24c67edab0ddea0b97ed4d39e2b3f5c436c6d7097ea6044ed85ff5e4330c');
